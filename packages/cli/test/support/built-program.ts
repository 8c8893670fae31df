import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../..', import.meta.url))

/**
 * Makes the program as it is published, once before the tests that run it. With `LEASEHOLD_BUILT=1`, `npm run build` has made it
 * already: two runs of tests at the same time must not both write it.
 */
export function setup(): void {
  if (process.env.LEASEHOLD_BUILT === '1') return
  execFileSync(process.execPath, ['--import', 'tsx', 'tools/bundle.ts'], { cwd: root, stdio: 'inherit' })
}
