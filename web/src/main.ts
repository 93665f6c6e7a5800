// SPDX-License-Identifier: Apache-2.0
import { mount } from 'svelte';
import App from './App.svelte';
import { startLanguage } from './i18n/i18n.svelte';
import { startTheme } from './shell/theme';
import './styles/tokens.css';
import './styles/base.css';

startTheme();
const target = document.getElementById('page');
// In the reader's language from the first word on.
void startLanguage().finally(() => target && mount(App, { target }));
