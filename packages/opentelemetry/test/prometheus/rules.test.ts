import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { temporaryFolder } from '@leasehold/testing'
import { describePromtool } from '@leasehold/testing/describe-prometheus'
import { promtoolProgram } from '@leasehold/testing/prometheus-server'
import { expect, it } from 'vitest'
import { alertNames, dashboard, expressionsOf, rules } from '../support/deploy-files.js'

const run = promisify(execFile)
const folder = fileURLToPath(new URL('../../prometheus/', import.meta.url))

async function promtool(...args: string[]): Promise<string> {
  const { stdout } = await run(promtoolProgram.path ?? '', args, { cwd: folder, timeout: 60_000 })
  return stdout
}

describePromtool('the rules', () => {
  it('are valid', async () => {
    expect(await promtool('check', 'rules', 'leasehold.rules.yml')).toContain('SUCCESS')
  })

  it('fire under each fault, are silent without it, and clear', async () => {
    expect(await promtool('test', 'rules', 'leasehold.rules.test.yml')).toContain('SUCCESS')
  })

  it('have a test of each alert, which fires and does not fire', () => {
    const tests = readFileSync(join(folder, 'leasehold.rules.test.yml'), 'utf8')
    for (const name of alertNames(rules)) {
      expect(tests).toMatch(new RegExp(`alertname: ${name}\\n\\s+exp_alerts: \\[\\]`))
      expect(tests).toMatch(new RegExp(`alertname: ${name}\\n\\s+exp_alerts:\\n`))
    }
  })

  it('also work with the names that the Collector gives, by the command of the guide', async () => {
    const guide = readFileSync(new URL('../../../../docs/operating/index.md', import.meta.url), 'utf8')
    const command =
      /<!-- suffixes -->\n```sh\n(?<command>[^`]+)```/.exec(guide)?.groups?.command ?? 'there is no such command'
    const copies = temporaryFolder()
    for (const file of ['leasehold.rules.yml', 'leasehold.rules.test.yml']) {
      writeFileSync(join(copies, file), readFileSync(join(folder, file)))
    }
    writeFileSync(join(copies, 'leasehold.json'), JSON.stringify(dashboard))
    await run('/bin/sh', ['-c', command], { cwd: copies, timeout: 10_000 })
    expect(await promtool('test', 'rules', join(copies, 'leasehold.rules.test.yml'))).toContain('SUCCESS')
    const renamed = readFileSync(join(copies, 'leasehold.json'), 'utf8')
    expect(renamed).toContain('leasehold_store_operation_duration_seconds_bucket{')
    expect(renamed).toContain('leasehold_renewal_margin_bucket{')
    expect(renamed).toContain('leasehold_validity_min_seconds{')
    expect(renamed).toContain('leasehold_leader_ratio{')
    expect(renamed).toContain('leasehold_lost_total{')
  })
})

describePromtool('the dashboard', () => {
  it('has valid expressions', async () => {
    const valid = (expression: string): string =>
      expression.replaceAll(/\$__(rate_interval|range)/g, '1m').replaceAll(/\$(job|lease_group)\b/g, '.*')
    const records = expressionsOf(dashboard).map((expression, index) => ({
      record: `panel_${index}`,
      expr: valid(expression),
    }))
    // JSON is YAML.
    const file = join(mkdtempSync(join(temporaryFolder(), 'rules-')), 'panels.yml')
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'panels', rules: records }] }))
    expect(await promtool('check', 'rules', file)).toContain(`${records.length} rules found`)
  })
})
