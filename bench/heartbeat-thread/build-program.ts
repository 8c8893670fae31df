import { mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const folder = fileURLToPath(new URL('../../node_modules/.cache/leasehold-bench', import.meta.url))

/**
 * Builds a program below the packages that it imports, so that its start loads no compiler. Resolves with its path.
 * `define`: expressions of the source, and what they are replaced by.
 */
export async function buildProgram(entry: URL, define: Readonly<Record<string, string>> = {}): Promise<string> {
  mkdirSync(folder, { recursive: true })
  const source = fileURLToPath(entry)
  const outfile = join(folder, `${basename(source, '.ts')}.mjs`)
  await build({
    entryPoints: [source],
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    define,
  })
  return outfile
}
