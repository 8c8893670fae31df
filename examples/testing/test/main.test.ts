import { expect, it } from 'vitest'
import { runExample } from '../../../tools/run-example.js'

it('loses no update with the guard, and shows a lost one without it', { timeout: 120_000 }, () => {
  const { status, lines, stderr } = runExample('testing')
  expect(stderr).toBe('')
  expect(lines[0]).toBe('with the guard: 100 schedules, no update was lost')
  expect(lines[1]).toMatch(/^without it: seed \d+: failed-workload: node-\d\.\d: Error: an update was lost$/)
  expect(lines.at(-1)).toContain('an update was lost')
  expect(status).toBe(0)
})
