import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { repositoryUrl, root } from '../workspaces.js'
import { proseOf } from './code-block.js'

const LINK = /\[[^\]]*\]\((?<target>[^)\s]+)(?:\s+"[^"]*")?\)|^\[[^\]]+\]:\s+(?<reference>\S+)/gm
/** A page of this repository on its web page. A package page on npm resolves no relative links. */
const OWN_PAGE = `${repositoryUrl}/blob/main/`
const ELSEWHERE = /^(?:[a-z][a-z+.-]*:|#|\/\/)/i

/** The targets of links to this repository that point to no file, as written in the page. */
export function brokenLinks(file: string, page: string): string[] {
  return linkTargets(page).filter((target) =>
    target.startsWith(OWN_PAGE)
      ? !resolves(join(root, 'PAGE.md'), target.slice(OWN_PAGE.length))
      : !ELSEWHERE.test(target) && !resolves(file, target),
  )
}

/** The targets of relative links, as written in the page. */
export function relativeLinks(page: string): string[] {
  return linkTargets(page).filter((target) => !ELSEWHERE.test(target))
}

function linkTargets(page: string): string[] {
  // Text between backticks is not a link.
  const prose = proseOf(page).replaceAll(/`[^`\n]*`/g, '')
  return [...prose.matchAll(LINK)].map(({ groups }) => groups?.target ?? groups?.reference ?? '')
}

/** On the site made from `docs/`, `/` is that folder, and links to pages have no file ending. */
function resolves(file: string, target: string): boolean {
  const [path = ''] = target.split(/[?#]/)
  const base = path.startsWith('/') ? join(root, 'docs', path) : join(dirname(file), decodeURI(path))
  return [base, `${base}.md`].some((candidate) => existsSync(candidate))
}
