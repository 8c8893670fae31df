import { execFile } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { filesBelow, packages, root } from '../../../../tools/workspaces.js'

const output = join(root, 'docs', '.vitepress', 'dist')

/** One page of the built site. */
export interface BuiltPage {
  /** Its path, such as `/start/which-store` or `/`. */
  readonly path: string
  readonly html: string
}

/** Builds the site unless it is newer than all that it is made from. Returns its folder. */
export async function builtSite(): Promise<string> {
  const built = join(output, 'llms-full.txt')
  if (!existsSync(built) || statSync(built).mtimeMs < newestSource()) {
    await promisify(execFile)('npm', ['run', 'docs:build'], { cwd: root, timeout: 300_000, maxBuffer: 1e8 })
  }
  return output
}

function newestSource(): number {
  const docs = filesBelow(join(root, 'docs'), '.md', '.ts', '.css', '.html', '.svg').filter(
    (file) => !/\.vitepress\/(?:dist|cache)|docs\/(?:reference\/api|public|[a-z]+\/test)\//.test(file),
  )
  const sources = packages().flatMap(({ folder }) => filesBelow(join(folder, 'src'), '.ts'))
  return Math.max(...[...docs, ...sources].map((file) => statSync(file).mtimeMs))
}

/** All pages that VitePress built, sorted by path. */
export function builtPages(folder: string): BuiltPage[] {
  return filesBelow(folder, '.html')
    .map((file) => ({
      path: file.slice(folder.length).replace(/(?:index)?\.html$/, ''),
      html: readFileSync(file, 'utf8'),
    }))
    .filter(({ path }) => path !== '/404' && !path.startsWith('/playground/'))
}
