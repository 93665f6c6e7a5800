// SPDX-License-Identifier: Apache-2.0
import type { Verdict } from '../api/types';
import { t } from '../i18n/i18n.svelte';

export const verdictWord = (verdict: Verdict | null) => (verdict === null ? null : t(`verdict.${verdict}`));
