import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('rivals', import.meta.url))
const rivals = createRequire(join(folder, 'package.json'))

/** Installs the rivals into a folder of their own, unless they are there: the repository does not depend on them. */
export function installRivals(): void {
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  if (Object.entries(dependencies).every(([name, version]) => versionOf(name) === version)) return
  console.error(`Installing ${Object.keys(dependencies).join(', ')} …`)
  const options = ['install', '--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts', '--loglevel=error']
  const { status } = spawnSync('npm', options, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) throw new Error('the rivals could not be installed')
}

/** A package of the rivals' folder. The compiler does not know its types: the caller declares the part that it uses. */
export function rival<T>(name: string): T {
  return rivals(name)
}

/** The version that is installed, if any. */
export function versionOf(name: string): string | undefined {
  const manifest = join(folder, 'node_modules', name, 'package.json')
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).version : undefined
}
