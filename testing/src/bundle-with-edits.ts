import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

/** One replacement in a source; `find` occurs there exactly once. */
export interface Edit {
  /** From the folder of the sources. */
  readonly file: string
  readonly find: string
  readonly replace: string
}

/** A program to bundle with a deliberate bug. */
export interface EditedProgram {
  /** The path of the program. */
  readonly entry: string
  /** The folder of the edited sources, with a slash at its end. */
  readonly sources: string
  readonly edits: readonly Edit[]
}

/** Bundles a program with the edited sources into one file. Throws where an edit does not fit. */
export async function bundleWithEdits({ entry, sources, edits }: EditedProgram, outfile: string): Promise<void> {
  const left = new Set(edits)
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    conditions: ['@leasehold/source'],
    external: ['vitest', 'lmdb', 'fs-native-extensions', 'pg-native'],
    // Libraries in CommonJS call it. The program may import `createRequire` itself.
    banner: {
      js: "import { createRequire as requireFor } from 'node:module'; const require = requireFor(import.meta.url);",
    },
    plugins: [
      {
        name: 'edits',
        setup: ({ onLoad }) => {
          onLoad({ filter: /\.ts$/ }, ({ path }) => {
            const wanted = edits.filter(({ file }) => path === join(sources, file))
            if (wanted.length === 0) return undefined
            for (const edit of wanted) left.delete(edit)
            return { loader: 'ts', contents: wanted.reduce(edited, readFileSync(path, 'utf8')) }
          })
        },
      },
    ],
  })
  for (const { file } of left) throw new Error(`${file} is no source that the program uses`)
}

/** The source with the edit. Throws unless it fits in exactly one place. */
export function edited(source: string, { file, find, replace }: Edit): string {
  const parts = source.split(find)
  if (parts.length !== 2) throw new Error(`'${find}' occurs ${parts.length - 1} times in ${file}, not once`)
  return parts.join(replace)
}
