import { defineConfig } from 'vitepress'
import { repositoryUrl } from '../../tools/workspaces.js'
import { siteAddress } from './address.js'
import { API_FOLDER } from './api-folder.js'
import { headingAnchor } from './heading-anchor.js'
import { linkToMarkdown } from './markdown-link.js'
import { siteTitle, writeMarkdownPages } from './markdown-pages.js'
import { bar, sidebar } from './menus.js'
import { sections } from './navigation.js'
import { pageDescription } from './page-text.js'
import { repositoryIcon } from './repository-icon.js'
import { linkToRepository } from './repository-links.js'
import { boostDocument, searchedHtml } from './search.js'
import { leaveOutEmptyHeads } from './table-heads.js'

const { base, url } = siteAddress()
const list = sections()

/** The configuration of VitePress. */
export const siteConfig = defineConfig({
  title: siteTitle,
  lang: 'en',
  base,
  cleanUrls: true,
  lastUpdated: false,
  // One file for what all pages share: the list of their files is as long as a page.
  metaChunk: true,
  // The server of `npm run docs` would take the page of the playground for one of its own.
  vite: { optimizeDeps: { entries: ['.vitepress/theme/index.ts'] } },
  // The entrance on GitHub; the front page takes its place here.
  srcExclude: ['README.md'],
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: {
    anchor: { slugify: headingAnchor },
    languageAlias: { hocon: 'properties' },
    // The usual themes have too little contrast.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: (markdown) => {
      linkToRepository(markdown)
      leaveOutEmptyHeads(markdown)
      linkToMarkdown(markdown, base)
    },
  },
  transformPageData: ({ relativePath, frontmatter }) => {
    if (relativePath.startsWith(`${API_FOLDER}/`)) frontmatter.editLink = false
    return { description: pageDescription(relativePath) }
  },
  transformHead: ({ page }) => [['link', { rel: 'alternate', type: 'text/markdown', href: `${base}${page}` }]],
  buildEnd: ({ outDir, pages }) => writeMarkdownPages({ output: outDir, url, pages, sections: list }),
  themeConfig: {
    nav: bar(list),
    sidebar: sidebar(list),
    outline: [2, 3],
    socialLinks: [{ icon: repositoryIcon, link: repositoryUrl, ariaLabel: 'The repository on GitHub' }],
    editLink: { pattern: `${repositoryUrl}/edit/main/docs/:path`, text: 'Change this page' },
    search: {
      provider: 'local',
      options: {
        _render: (source, env, markdown) => searchedHtml(markdown, source, env),
        miniSearch: { searchOptions: { boostDocument } },
      },
    },
  },
})
