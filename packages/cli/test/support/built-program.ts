import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../..', import.meta.url))

/** Makes the program as it is published, once before the tests that run it. */
export function setup(): void {
  execFileSync(process.execPath, ['--import', 'tsx', 'tools/bundle.ts'], { cwd: root, stdio: 'inherit' })
}
