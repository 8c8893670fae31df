// VitePress looks here.
export { siteConfig as default } from '../site/site-config.js'
