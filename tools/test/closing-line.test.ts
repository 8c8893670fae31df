import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from '../workspaces.js'

/** Runs the cases with `pattern` in their names. */
function run(pattern: string): { lines: string[]; status: number | null } {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const folder = join(root, 'tools', 'test', 'fixtures', 'closing-line')
  const { stdout, status } = spawnSync(process.execPath, [vitest, 'run', pattern], { cwd: folder, encoding: 'utf8' })
  return { lines: stdout.trimEnd().split('\n'), status }
}

/** The last line of the run and its exit code. */
function runCases(pattern: string): { lastLine: string | undefined; status: number | null } {
  const { lines, status } = run(pattern)
  return { lastLine: lines.at(-1), status }
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

  it('comes after the tests that were skipped for something that is missing, with the command that runs them', () => {
    expect(run('missing').lines.slice(-7)).toEqual([
      'Skipped: 3 in missing.case.ts',
      '  the server was not found: install it',
      '  then: npm test -- missing.case.ts',
      'Skipped: 1 in missing.case.ts',
      '  its proxy was not found: install it',
      '  then: npm test -- missing.case.ts',
      '1 passed, 0 failed, 5 skipped',
    ])
  })
})
