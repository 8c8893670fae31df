import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import type { Catch, Edit, Mutant } from './mutant.js'

const coreSources = fileURLToPath(new URL('../../../core/src/', import.meta.url))
const hunter = fileURLToPath(new URL('hunt.ts', import.meta.url))

/** Bundles the hunt with the engine and the stores, the bug among them, into one file. */
export async function buildMutant({ edits }: Pick<Mutant, 'edits'>, outfile: string): Promise<void> {
  const left = new Set(edits)
  await build({
    entryPoints: [hunter],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    conditions: ['@leasehold/source'],
    external: ['vitest'],
    plugins: [
      {
        name: 'mutant',
        setup: ({ onLoad }) => {
          onLoad({ filter: /\.ts$/ }, ({ path }) => {
            const wanted = edits.filter(({ file }) => path === coreSources + file)
            if (wanted.length === 0) return undefined
            for (const edit of wanted) left.delete(edit)
            return { loader: 'ts', contents: wanted.reduce(apply, readFileSync(path, 'utf8')) }
          })
        },
      },
    ],
  })
  for (const { file } of left) throw new Error(`${file} is no source of core that the hunt uses`)
}

/**
 * Runs a bundle, and resolves with the laws or checks that caught the bug: by the `laws`, by the `simulator`, by the simulator with one
 * kind of faults, or by one plan of the simulator, as JSON.
 */
export async function hunt(bundle: string, how: string): Promise<Catch> {
  const { stdout } = await promisify(execFile)(process.execPath, [bundle, how])
  return JSON.parse(stdout)
}

function apply(source: string, { file, find, replace }: Edit): string {
  const parts = source.split(find)
  if (parts.length !== 2) throw new Error(`'${find}' occurs ${parts.length - 1} times in ${file}, not once`)
  return parts.join(replace)
}
