import { existsSync, statSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { repositoryUrl, root, shown } from '../../tools/workspaces.js'
import { headingAnchor } from './heading-anchor.js'
import { addressOf, sections } from './navigation.js'

const docs = join(root, 'docs')

const ELSEWHERE = /^(?:[a-z][a-z+.-]*:|#|\/)/i

/** The part of a parsed page that is used here: tokens of markdown-it. */
interface MarkdownToken {
  readonly type: string
  readonly content: string
  tag: string
  readonly children?: readonly MarkdownToken[] | null
  attrGet(name: string): string | null
  attrSet(name: string, value: string): void
}

/** The part of markdown-it that is used here. */
export interface MarkdownParser {
  readonly core: {
    readonly ruler: {
      push(
        name: string,
        rule: (state: { readonly tokens: readonly MarkdownToken[]; readonly env: PageEnvironment }) => void,
      ): void
    }
  }
}

interface PageEnvironment {
  readonly path?: string
}

/**
 * A rule for markdown-it. Relative links that leave `docs/` work on GitHub. On the site, they become links to the web page of
 * the repository. Throws if there is no such file.
 */
export function linkToRepository(markdown: MarkdownParser): void {
  markdown.core.ruler.push('link-to-repository', ({ tokens, env }) => {
    const page = env.path
    if (page === undefined) return
    for (const { children } of tokens) {
      for (const token of children ?? []) {
        const target = token.attrGet('href')
        if (target !== null) token.attrSet('href', siteTarget(target, page))
      }
    }
  })
}

/** The target of a link in this page, as the site needs it. */
export function siteTarget(target: string, page: string): string {
  if (ELSEWHERE.test(target)) return target
  const [, path = '', rest = ''] = /^([^?#]*)(.*)$/.exec(target) ?? []
  const file = join(dirname(page), decodeURI(path))
  if (!existsSync(file)) throw new Error(`${shown(page)}: the link ${target} leads to no file`)
  if (file === join(docs, 'README.md')) return placeInList(rest)
  if (isPage(file)) return target
  return `${repositoryPage(file)}${rest}`
}

/** Where a link to the list of pages on GitHub leads: to the first page of the section, or to the front page. */
function placeInList(hash: string): string {
  const [first] = sections().find(({ title }) => `#${headingAnchor(title)}` === hash)?.pages ?? []
  return first === undefined ? '/' : addressOf(first.file)
}

function isPage(file: string): boolean {
  return file.startsWith(`${docs}${sep}`) && file.endsWith('.md')
}

/** The web page of a file or folder of the repository. */
function repositoryPage(file: string): string {
  const kind = statSync(file).isDirectory() ? 'tree' : 'blob'
  return `${repositoryUrl}/${kind}/main/${relative(root, file).split(sep).join('/')}`
}
