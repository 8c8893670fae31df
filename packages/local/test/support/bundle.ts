import { createRequire } from 'node:module'
import { join } from 'node:path'
import { build } from 'esbuild'

const native = createRequire(import.meta.url).resolve('fs-native-extensions')

/** Bundles programs of `test/programs` into JavaScript that starts fast, and returns the path of the first. */
export async function bundle(folder: string, ...names: readonly string[]): Promise<string> {
  await build({
    entryPoints: names.map((name) => new URL(`../programs/${name}.ts`, import.meta.url).pathname),
    outdir: folder,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    conditions: ['@leasehold/source'],
    plugins: [
      {
        name: 'native',
        setup: ({ onResolve }) =>
          onResolve({ filter: /^fs-native-extensions$/ }, () => ({ path: native, external: true })),
      },
    ],
  })
  return join(folder, `${names[0]}.cjs`)
}
