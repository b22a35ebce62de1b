import { mount } from 'svelte';
import App from './App.svelte';
import './app.css';
import './looks.css';
import './ladder.css';

mount(App, { target: document.getElementById('app')! });
