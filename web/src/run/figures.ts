// SPDX-License-Identifier: Apache-2.0
import { bytes as counted } from '../parts/numbers';

export const bytes = (value: number | undefined) => (value === undefined ? '–' : counted(value));
export const whole_percent = (value: number) => `${Math.round(value * 100)} %`;
