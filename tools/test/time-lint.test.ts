import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../workspaces.js'

let folder: string

/** Copies the lint rules to a temporary folder, so that no test writes into the repository. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'leasehold-lint-'))
  cpSync(join(root, 'tools', 'lint'), join(folder, 'tools', 'lint'), { recursive: true })
  const { $schema: _, ...rules } = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8'))
  writeFileSync(join(folder, 'biome.json'), JSON.stringify({ ...rules, vcs: { enabled: false } }))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

function lints(path: string, code: string): boolean {
  const file = join(folder, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${code}\n`)
  const { status, stderr } = spawnSync(join(root, 'node_modules', '.bin', 'biome'), ['lint', file], {
    cwd: folder,
    encoding: 'utf8',
  })
  rmSync(file)
  if (status !== 0 && !/Clock/.test(stderr)) throw new Error(stderr)
  return status === 0
}

const WITHOUT_CLOCK = [
  'setTimeout(() => {}, 1)',
  'setInterval(() => {}, 1)',
  'globalThis.setTimeout(() => {}, 1)',
  'export const at = Date.now()',
  'export const read = Date.now',
  'export const at = new Date()',
  'export const at = performance.now()',
  'export const at = process.hrtime.bigint()',
  'export const signal = AbortSignal.timeout(1)',
  "export { setTimeout } from 'node:timers/promises'",
  "import { setTimeout as sleep } from 'node:timers/promises'\nexport const slept = sleep(1)",
  "import { performance as p } from 'node:perf_hooks'\nexport const at = p.now()",
]

describe('time and timers come from a Clock', () => {
  it.each(WITHOUT_CLOCK)('rejected in a package: %s', (code) => {
    expect(lints('packages/local/src/probe.ts', code)).toBe(false)
  })

  it.each([
    'export const at = new Date(0)',
    "import { setImmediate as nextTurn } from 'node:timers/promises'\nexport const turned = nextTurn()",
    'export const wait = (clock: { setTimeout(): void }) => clock.setTimeout()',
  ])('accepted: %s', (code) => {
    expect(lints('packages/local/src/probe.ts', code)).toBe(true)
  })

  it.each(['packages/core/src/time/system-clock.ts', 'packages/core/src/time/machine-clock.ts'])(
    '%s may use time and timers',
    (path) => {
      expect(lints(path, 'setTimeout(() => {}, 1)')).toBe(true)
      expect(lints(path, 'export const at = Date.now()')).toBe(true)
    },
  )

  it('a test may sleep, but not set timers', () => {
    const sleep = "import { setTimeout as sleep } from 'node:timers/promises'\nawait sleep(1)"
    expect(lints('packages/core/test/probe.test.ts', sleep)).toBe(true)
    expect(lints('packages/core/test/probe.test.ts', 'setTimeout(() => {}, 1)')).toBe(false)
  })
})
