import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/** The packages that a benchmark is measured against, in a folder of their own: the repository does not depend on them. */
export class Rivals {
  readonly #folder: URL

  /** Those in `bench/<benchmark>/rivals/package.json`. */
  constructor(benchmark: string) {
    this.#folder = new URL(`../${benchmark}/rivals/`, import.meta.url)
  }

  /** Installs them, unless they are there. redlock-universal asks for a later Node than it needs; npm only warns. */
  install(): void {
    const { dependencies } = JSON.parse(readFileSync(new URL('package.json', this.#folder), 'utf8'))
    if (Object.entries(dependencies).every(([name, version]) => this.versionOf(name) === version)) return
    console.error(`Installing ${Object.keys(dependencies).join(', ')} …`)
    const options = ['install', '--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts', '--loglevel=error']
    const { status } = spawnSync('npm', options, {
      cwd: fileURLToPath(this.#folder),
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    if (status !== 0) throw new Error('the rivals could not be installed')
  }

  /** One of them. The compiler does not know its types: the caller declares the part that it uses. */
  load<T>(name: string): T {
    return createRequire(new URL('package.json', this.#folder))(name)
  }

  /** The version that is installed, if any. */
  versionOf(name: string): string | undefined {
    const manifest = new URL(`node_modules/${name}/package.json`, this.#folder)
    // redlock's own begins with a v.
    return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).version.replace(/^v/, '') : undefined
  }
}
