import { spawnSync } from 'node:child_process'
import { describeUnless } from '@leasehold/testing/describe-unless'
import { expect, it } from 'vitest'
import { runExample } from '../../../tools/run-example.js'

const { REDIS_SERVER = 'redis-server' } = process.env
const isMissing = spawnSync(REDIS_SERVER, ['--version']).status !== 0
const whyNot = isMissing ? 'redis-server was not found: install it, or set REDIS_SERVER' : undefined

describeUnless(whyNot, 'the failover demo on Redis', () => {
  it('ends with every figure as it has to be', { timeout: 120_000 }, () => {
    const { status, lines, stderr } = runExample('redis')
    const summary = lines.slice(lines.indexOf('Summary')).join('\n')
    expect(summary, `${lines.join('\n')}\n${stderr}`).toMatch(
      /overlap, over [4-9]\d* holdings and [\d,]+ looks .* 0\.000 ms/,
    )
    expect(summary).toMatch(/takeovers +3/)
    expect(summary).toMatch(/late writes refused by the fencing token +1 of 1/)
    expect(summary).not.toContain('✘')
    expect(status).toBe(0)
  })
})
