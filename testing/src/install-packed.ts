import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const packages = fileURLToPath(new URL('../../packages', import.meta.url))

/** Packs a package, as it was built, and unpacks it into an application, as an installation does. */
export function installPacked(application: string, name: string): void {
  const packed = mkdtempSync(join(application, 'packed-'))
  const args = ['pack', '--ignore-scripts', '--silent', '--pack-destination', packed]
  execFileSync('npm', args, { cwd: join(packages, name), stdio: ['ignore', 'ignore', 'inherit'] })
  const [archive = ''] = readdirSync(packed)
  const folder = join(application, 'node_modules', '@leasehold', name)
  mkdirSync(folder, { recursive: true })
  execFileSync('tar', ['-xzf', join(packed, archive), '-C', folder, '--strip-components', '1'])
}
