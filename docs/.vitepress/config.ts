import { defineConfig } from 'vitepress'
import { siteAddress } from '../../tools/site/address.js'
import { API_FOLDER } from '../../tools/site/api-folder.js'
import { headingAnchor } from '../../tools/site/heading-anchor.js'
import { siteTitle, writeMarkdownPages } from '../../tools/site/markdown-pages.js'
import { bar, sidebar } from '../../tools/site/menus.js'
import { sections } from '../../tools/site/navigation.js'
import { pageDescription } from '../../tools/site/page-text.js'
import { linkToRepository } from '../../tools/site/repository-links.js'
import { boostDocument, searchedPart } from '../../tools/site/search.js'
import { repositoryUrl } from '../../tools/workspaces.js'

const { base, url } = siteAddress()
const list = sections()

export default defineConfig({
  title: siteTitle,
  lang: 'en',
  base,
  cleanUrls: true,
  lastUpdated: false,
  // The entrance on GitHub; the front page takes its place here.
  srcExclude: ['README.md'],
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: {
    anchor: { slugify: headingAnchor },
    languageAlias: { hocon: 'properties' },
    config: linkToRepository,
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
    socialLinks: [{ icon: 'github', link: repositoryUrl, ariaLabel: 'The repository on GitHub' }],
    editLink: { pattern: `${repositoryUrl}/edit/main/docs/:path`, text: 'Change this page' },
    search: {
      provider: 'local',
      options: {
        _render: (source, env, markdown) => markdown.renderAsync(searchedPart(source, env.relativePath), env),
        miniSearch: { searchOptions: { boostDocument } },
      },
    },
  },
})
