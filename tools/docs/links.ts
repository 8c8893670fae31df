import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from '../workspaces.js'
import { proseOf } from './code-block.js'

const LINK = /\[[^\]]*\]\((?<target>[^)\s]+)(?:\s+"[^"]*")?\)|^\[[^\]]+\]:\s+(?<reference>\S+)/gm
const ELSEWHERE = /^(?:[a-z][a-z+.-]*:|#|\/\/)/i

/** The targets of relative links that point to no file, as written in the page. */
export function brokenLinks(file: string, page: string): string[] {
  // Text between backticks is not a link.
  const prose = proseOf(page).replaceAll(/`[^`\n]*`/g, '')
  const targets = [...prose.matchAll(LINK)].map(({ groups }) => groups?.target ?? groups?.reference ?? '')
  return targets.filter((target) => !ELSEWHERE.test(target) && !resolves(file, target))
}

/** On the site made from `docs/`, `/` is that folder, and links to pages have no file ending. */
function resolves(file: string, target: string): boolean {
  const [path = ''] = target.split(/[?#]/)
  const base = path.startsWith('/') ? join(root, 'docs', path) : join(dirname(file), decodeURI(path))
  return [base, `${base}.md`].some((candidate) => existsSync(candidate))
}
