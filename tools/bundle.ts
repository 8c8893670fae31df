import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { filesBelow, packages, type Workspace } from './workspaces.js'

/**
 * Writes the JavaScript of a package beside its declarations: one file for each entry, and one for what entries share or
 * load later. Node spends more time on finding and linking a hundred small modules than on running them. The code is
 * neither shortened nor renamed, and its source maps lead to the published sources.
 */
async function bundle({ folder, manifest }: Workspace): Promise<void> {
  const entries = Object.values(manifest.exports ?? {}).flatMap((entry) =>
    typeof entry === 'string' ? [] : [join(folder, entry['@leasehold/source'] ?? '')],
  )
  const dist = join(folder, 'dist')
  for (const old of filesBelow(dist, '.js', '.js.map')) rmSync(old)
  await build({
    entryPoints: entries,
    outdir: dist,
    outbase: join(folder, 'src'),
    bundle: true,
    splitting: true,
    chunkNames: 'shared-[hash]',
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    packages: 'external',
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
  })
}

await Promise.all(packages().map(bundle))
