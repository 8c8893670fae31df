import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from '../workspaces.js'
import { proseOf } from './code-block.js'

const LINK = /\[[^\]]*\]\((?<target>[^)\s]+)(?:\s+"[^"]*")?\)|^\[[^\]]+\]:\s+(?<reference>\S+)/gm
const ELSEWHERE = /^(?:[a-z][a-z+.-]*:|#|\/\/)/i

/** The targets of the relative links of a page that point to no file, as they are written. */
export function brokenLinks(file: string, page: string): string[] {
  // What stands between backticks is shown, not linked.
  const prose = proseOf(page).replaceAll(/`[^`\n]*`/g, '')
  const targets = [...prose.matchAll(LINK)].map(({ groups }) => groups?.target ?? groups?.reference ?? '')
  return targets.filter((target) => !ELSEWHERE.test(target) && !resolves(file, target))
}

/** The site of the documents is made from `docs/`: there, `/` is that folder, and pages go without their ending. */
function resolves(file: string, target: string): boolean {
  const [path = ''] = target.split(/[?#]/)
  const base = path.startsWith('/') ? join(root, 'docs', path) : join(dirname(file), decodeURI(path))
  return [base, `${base}.md`].some((candidate) => existsSync(candidate))
}
