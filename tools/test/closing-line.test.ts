import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from '../workspaces.js'

/** Runs the cases with `pattern` in their names, and returns the last line and the exit code. */
function runCases(pattern: string): { lastLine: string | undefined; status: number | null } {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const folder = join(root, 'tools', 'test', 'fixtures', 'closing-line')
  const { stdout, status } = spawnSync(process.execPath, [vitest, 'run', pattern], { cwd: folder, encoding: 'utf8' })
  return { lastLine: stdout.trimEnd().split('\n').at(-1), status }
}

describe('the closing line', () => {
  it('ends a run without failures', () => {
    expect(runCases('fine')).toEqual({ lastLine: '1 passed, 0 failed, 0 skipped', status: 0 })
  })

  it('counts passed, failed and skipped tests; a failed hook counts as a failure', () => {
    expect(runCases('outcomes')).toEqual({ lastLine: '2 passed, 2 failed, 3 skipped', status: 1 })
  })

  it('counts a file that does not load as a failure', () => {
    expect(runCases('unloadable')).toEqual({ lastLine: '0 passed, 1 failed, 0 skipped', status: 1 })
  })

  it('counts an unhandled rejection as a failure', () => {
    expect(runCases('unhandled')).toEqual({ lastLine: '1 passed, 1 failed, 0 skipped', status: 1 })
  })
})
