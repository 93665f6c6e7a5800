// SPDX-License-Identifier: Apache-2.0
// The report: a page of one file, without a server. `ponk history export --html` puts the data in.
import { mount } from 'svelte';
import { startLanguage } from '../i18n/i18n.svelte';
import '../styles/tokens.css';
import '../styles/base.css';
import Report from './Report.svelte';

const target = document.getElementById('page');
// A viewer may keep pages from remembering anything: then it is English.
void startLanguage().catch(() => undefined).finally(() => target && mount(Report, { target }));
