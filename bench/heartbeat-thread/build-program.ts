import { mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const folder = fileURLToPath(new URL('../../node_modules/.cache/leasehold-bench', import.meta.url))

/** Builds a program below the packages that it imports, so that its start loads no compiler. Resolves with its path. */
export async function buildProgram(entry: URL): Promise<string> {
  mkdirSync(folder, { recursive: true })
  const source = fileURLToPath(entry)
  const outfile = join(folder, `${basename(source, '.ts')}.mjs`)
  await build({ entryPoints: [source], outfile, bundle: true, packages: 'external', platform: 'node', format: 'esm' })
  return outfile
}
