import type { DefaultTheme } from 'vitepress'
import { API_FOLDER } from './api-folder.js'
import { addressOf, type Section } from './navigation.js'
import { publicEntries } from './public-entries.js'

/** The section of the reference, which also has the generated pages. */
const REFERENCE = 'Reference'

/** How many sections the bar at the top shows by name. The others are in one menu. */
const SHOWN = 5

const api = { text: 'API', link: `/${API_FOLDER}/` }

/** The menus at the side: one for the pages of the list, one for those of the API. */
export function sidebar(sections: readonly Section[]): DefaultTheme.SidebarMulti {
  const items = sections.map(({ title, pages }) => ({
    text: title,
    items: [
      ...pages.map((page) => ({ text: page.title, link: addressOf(page.file) })),
      ...(title === REFERENCE ? [api] : []),
    ],
  }))
  const modules = publicEntries().map(({ name }) => ({
    text: name,
    link: `${api.link}${name.replace(/^@[^/]+\//, '')}/`,
  }))
  return { '/': items, [api.link]: [{ text: 'API', link: api.link, items: modules }] }
}

/** The bar at the top. */
export function bar(sections: readonly Section[]): DefaultTheme.NavItem[] {
  const entries = sections.flatMap(({ title, pages: [first] }) =>
    first === undefined ? [] : [{ text: title, link: addressOf(first.file) }],
  )
  return [...entries.slice(0, SHOWN), { text: 'More', items: [...entries.slice(SHOWN), api] }]
}
