import { join } from 'node:path'
import { build } from 'esbuild'

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
    logOverride: { 'empty-import-meta': 'silent' },
  })
  return join(folder, `${names[0]}.cjs`)
}
