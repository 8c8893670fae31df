import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'

const main = new URL('../src/main.ts', import.meta.url).pathname

describe('the failover demo', () => {
  it('passes all checks of its summary in under 40 s', { timeout: 90_000 }, () => {
    const start = process.hrtime.bigint()
    const options = ['--import', 'tsx', '--conditions', '@leasehold/source', main]
    const { status, stdout, stderr } = spawnSync(process.execPath, options, { encoding: 'utf8' })
    const seconds = Number(process.hrtime.bigint() - start) / 1e9
    const summary = stdout.slice(stdout.indexOf('Summary'))
    expect(summary, `${stdout}\n${stderr}`).toMatch(/overlap, over [4-9]\d* holdings and [\d,]+ looks .* 0\.000 ms/)
    expect(summary).toMatch(/takeovers +3/)
    expect(summary).toMatch(/late writes refused by the fencing token +1 of 1/)
    expect(summary).not.toContain('✘')
    expect(status).toBe(0)
    expect(seconds).toBeLessThan(40)
  })
})
