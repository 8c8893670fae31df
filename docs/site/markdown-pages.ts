import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { codeBlocks } from '../../tools/docs/code-block.js'
import { root } from '../../tools/workspaces.js'
import { API_FOLDER } from './api-folder.js'
import type { Section } from './navigation.js'
import { firstSentence, plainPage } from './page-text.js'
import { siteTarget } from './repository-links.js'

/** The name of the site. */
export const siteTitle = 'Leasehold'

/** What the Markdown versions are made from. */
export interface MarkdownSite {
  /** The folder of the built site. */
  readonly output: string
  /** Where the site begins: an address that ends with a slash. */
  readonly url: string
  /** The pages, relative to `docs/`. */
  readonly pages: readonly string[]
  readonly sections: readonly Section[]
}

const TARGET = /(?<=\]\()(?<target>[^)\s]+)(?=[)\s])/g

/**
 * Writes the site for programs: each page as Markdown beside its HTML, `llms.txt` with one sentence on each page, and
 * `llms-full.txt` with the text of all pages but those of the API.
 */
export function writeMarkdownPages(site: MarkdownSite): void {
  for (const page of site.pages) write(join(site.output, page), markdownPage(page, site.url))
  write(join(site.output, 'llms.txt'), listOfPages(site))
  write(join(site.output, 'llms-full.txt'), allPages(site))
}

/** The Markdown version of a page: its links lead to the Markdown versions of other pages, or to the repository. */
function markdownPage(page: string, url: string): string {
  const source = readPage(page)
  const code = codeBlocks(source)
  const lines = source
    .split('\n')
    .map((line, index) =>
      code.some(({ start, end }) => start <= index && index < end)
        ? line
        : line.replaceAll(TARGET, (target) => markdownTarget(siteTarget(target, join(root, 'docs', page)), url)),
    )
  return `${plainPage(lines.join('\n'))}\n`
}

/** A link from the root of the site works wherever the text is read. */
function markdownTarget(target: string, url: string): string {
  if (!target.startsWith('/')) return target
  return target === '/' ? url : `${url}${target.slice(1)}.md`
}

function listOfPages({ sections, url }: MarkdownSite): string {
  const front = readPage('index.md')
  const parts = sections.flatMap(({ title, pages }) => [
    `\n## ${title}\n`,
    ...pages.map(({ title: name, file }) => `- [${name}](${url}${file}): ${firstSentence(readPage(file))}`),
  ])
  const whole = [
    `- [API](${url}${API_FOLDER}/index.md): Every public declaration of every package.`,
    `- [All pages in one file](${url}llms-full.txt): The text of all pages above.`,
  ]
  return `${[`# ${siteTitle}`, '', `> ${firstSentence(front)}`, ...parts, ...whole].join('\n')}\n`
}

function allPages({ sections, url }: MarkdownSite): string {
  const files = ['index.md', ...sections.flatMap(({ pages }) => pages.map(({ file }) => file))]
  return files.map((file) => `<!-- ${url}${file} -->\n\n${markdownPage(file, url)}`).join('\n')
}

function readPage(page: string): string {
  return readFileSync(join(root, 'docs', page), 'utf8')
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
