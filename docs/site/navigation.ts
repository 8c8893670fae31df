import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../tools/workspaces.js'

/** A page in the list of `docs/README.md`. */
interface ListedPage {
  readonly title: string
  /** Relative to `docs/`, such as `guides/nestjs.md`. */
  readonly file: string
}

/** A section of that list. */
export interface Section {
  readonly title: string
  readonly pages: readonly ListedPage[]
}

const ENTRY = /^- \[(?<title>.+)\]\((?<file>[^)\s]+\.md)\)/

/** The sections of `docs/README.md`, in their order, with the pages that they list. */
export function sections(list = readFileSync(join(root, 'docs', 'README.md'), 'utf8')): Section[] {
  const found: { title: string; pages: ListedPage[] }[] = []
  for (const line of list.split('\n')) {
    const title = /^## (?<title>.+)$/.exec(line)?.groups?.title
    if (title !== undefined) found.push({ title, pages: [] })
    const { title: of, file } = ENTRY.exec(line)?.groups ?? {}
    if (of !== undefined && file !== undefined) found.at(-1)?.pages.push({ title: withoutMarks(of), file })
  }
  return found
}

/** Menus show plain text. */
function withoutMarks(title: string): string {
  return title.replaceAll('`', '')
}

/** The address of a page on the site, below its base. */
export function addressOf(file: string): string {
  return `/${file.replace(/\.md$/, '').replace(/(^|\/)index$/, '$1')}`
}
