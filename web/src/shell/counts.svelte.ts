// SPDX-License-Identifier: Apache-2.0
// What the navigation shows behind the names of views; a view that knows a count sets it.
export const counts = $state<Record<string, number | undefined>>({});
