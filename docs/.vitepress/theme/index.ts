import type { Theme } from 'vitepress'
import DefaultTheme from 'vitepress/theme-without-fonts'
import './style.css'

// VitePress takes the default export.
export default { extends: DefaultTheme } satisfies Theme
