import { describeMysql } from '@leasehold/testing/describe-mysql'
import { expect, it } from 'vitest'
import { runExample } from '../../../tools/run-example.js'

describeMysql('the failover demo', () => {
  it('ends with every figure as it has to be', { timeout: 120_000 }, () => {
    const { status, lines, stderr } = runExample('mysql')
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
