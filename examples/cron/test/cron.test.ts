import { expect, it } from 'vitest'
import { runExample } from '../../../tools/run-example.js'

it('three instances run each tick once, also when one is killed in the middle, and none while the schedule is paused', () => {
  const { status, lines, stderr } = runExample('cron')
  expect(stderr).toBe('')
  const runs = lines.filter((line) => /^\d\d:\d\d:\d\d {2}(anna|berta|carla)$/.test(line))
  expect(runs.length).toBeGreaterThanOrEqual(8)
  expect(lines.some((line) => /^SIGKILL to \w+, in the middle of its work$/.test(line))).toBe(true)
  expect(lines).toContain('0 ticks were run during the pause, and one run was asked for by hand')
  expect(lines.at(-2)).toMatch(/^the last run: done, by another instance than \w+: true$/)
  expect(lines.at(-1)).toMatch(/ticks were run, 0 of them twice$/)
  expect(status).toBe(0)
})
