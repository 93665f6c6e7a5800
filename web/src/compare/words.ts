// SPDX-License-Identifier: Apache-2.0
import type { Verdict } from '../api/types';
import { t } from '../i18n/i18n.svelte';

export const verdictWord = (verdict: Verdict | null) => (verdict === null ? null : t(`verdict.${verdict}`));
/** Names of rows that are no names of the runs' own. */
export const fieldWords = () => ({ script: t('run.script'), arguments: t('compare.arguments'), target: t('run.target'), status: t('compare.status'), gpu: 'GPU', duration: t('compare.duration'), image: t('run.env.image'), commit: 'git' });
