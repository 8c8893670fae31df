import { expect, it } from 'vitest'
import { runExample } from '../../../tools/run-example.js'

it('two instances with node-cron run each tick once, also when one is killed', () => {
  const { status, lines, stderr } = runExample('node-cron')
  expect(stderr).toBe('')
  const runs = lines.filter((line) => /^\d\d:\d\d:\d\d {2}(anna|berta)$/.test(line))
  expect(runs.length).toBeGreaterThanOrEqual(6)
  expect(lines.some((line) => /^SIGKILL to \w+, in the middle of its work$/.test(line))).toBe(true)
  expect(lines.at(-1)).toMatch(/ticks were run, 0 of them twice$/)
  expect(status).toBe(0)
}, 120_000)
