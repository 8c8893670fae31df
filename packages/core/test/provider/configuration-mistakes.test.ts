import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, loadConfig } from '@leasehold/config'
import { type LeaseConfigurationError, type LeaseFactory, LeaseProvider, memoryLease } from '@leasehold/core'
import { temporaryFolder } from '@leasehold/testing'
import { describe, expect, it } from 'vitest'
import { silentLogger } from '../support/held-lease.js'

/** Like `localLease`: declares an option. */
const disk: LeaseFactory = Object.assign((...given: Parameters<LeaseFactory>) => memoryLease(...given), {
  optionKeys: ['folder'],
})

/** The configuration of an application.conf with these lines. */
function configOf(lines: readonly string[], env: Readonly<Record<string, string>> = {}): Config {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'application.conf'), lines.join('\n'))
  return loadConfig({ folder, env })
}

const jobs = ['leasehold.lease.lease-class = disk', 'jobs.nightly {', '  folder = var', '}']

/** The warnings about a lease at `jobs.nightly`. */
async function warningsOf(config: Config | object): Promise<string[]> {
  const warnings: string[] = []
  const logger = { ...silentLogger, warn: (message: string) => warnings.push(message) }
  await using provider = new LeaseProvider(config, { disk, memory: memoryLease }, { logger })
  await provider.getLease('report', 'jobs.nightly')
  await provider.getLease('other', 'jobs.nightly')
  return warnings
}

async function failureOf(config: Config | object, path = 'jobs.nightly'): Promise<LeaseConfigurationError> {
  await using provider = new LeaseProvider(config, { disk }, { logger: silentLogger })
  const error = await provider.getLease('report', path).catch((reason: unknown) => reason)
  expect(error).toMatchObject({ name: 'LeaseConfigurationError', leaseName: 'report' })
  return error as LeaseConfigurationError
}

describe('a mistyped environment variable', () => {
  it.each([
    ['LEASEHOLD_LEASE_HEARTBEAT_TIMEOUT', 'heartbeat-timeout', 'LEASEHOLD_LEASE_HEARTBEAT__TIMEOUT'],
    ['LEASEHOLD_LEASE_HEARTBEAT__TIMOUT', 'heartbeat-timeout', 'LEASEHOLD_LEASE_HEARTBEAT__TIMEOUT'],
    ['LEASEHOLD_LEASE_LEASE_OPERATION_TIMEOUT', 'lease-operation-timeout', 'LEASEHOLD_LEASE_LEASE__OPERATION__TIMEOUT'],
    ['LEASEHOLD_LEASE_TTL', 'heartbeat-timeout', 'LEASEHOLD_LEASE_HEARTBEAT__TIMEOUT'],
    ['LEASEHOLD_LEASES_MAX__HOLD', 'leasehold.lease.max-hold', 'LEASEHOLD_LEASE_MAX__HOLD'],
    ['LEASEHOLD_MAX_HOLD', 'leasehold.lease.max-hold', 'LEASEHOLD_LEASE_MAX__HOLD'],
    ['CONFIG_FORCE_jobs_nightly_max_hold', 'max-hold', 'CONFIG_FORCE_jobs_nightly_max__hold'],
  ])('%s: a warning suggests %s, and its variable', async (variable, key, right) => {
    const warnings = await warningsOf(configOf(jobs, { [variable]: '60s' }))
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain(`did you mean '${key}', which ${right} sets?`)
    expect(warnings[0]).toContain(`lease 'report', environment variable ${variable})`)
  })

  it.each(['LEASEHOLD_PORT', 'LEASEHOLD_LEASE_MAX__HOLD', 'LEASEHOLD_LOCAL_FOLDER'])(
    '%s: no warning',
    async (variable) => {
      expect(await warningsOf(configOf(jobs, { [variable]: '60s' }))).toEqual([])
    },
  )
})

describe('a mistyped key', () => {
  it('in leasehold.lease: one warning for all leases, with the file and the line', async () => {
    const config = configOf([...jobs, 'leasehold.lease {', '  heartbeat-timout = 60s', '}'])
    const warnings = await warningsOf(config)
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toMatch(
      /^'leasehold\.lease\.heartbeat-timout' is not .*: did you mean 'heartbeat-timeout'\? \(block 'leasehold\.lease', lease 'report', .*application\.conf:6\)$/,
    )
  })

  it('in leasehold.lease: no warning about what other providers may read', async () => {
    expect(await warningsOf(configOf([...jobs, 'leasehold.lease.url = "redis://localhost"']))).toEqual([])
  })

  it('beside leasehold.lease: no warning about the settings of other blocks', async () => {
    expect(
      await warningsOf(configOf([...jobs, 'leasehold.a.max-hold = 1h', 'leasehold.reports.strategy = lazy'])),
    ).toEqual([])
  })

  it.each([
    ['ttl', 'heartbeat-timeout'],
    ['timeout', 'heartbeat-timeout'],
    ['lease-duration', 'heartbeat-timeout'],
    ['interval', 'heartbeat-interval'],
    ['renew-interval', 'heartbeat-interval'],
    ['request-timeout', 'lease-operation-timeout'],
    ['max_hold', 'max-hold'],
    ['foldr', 'folder'],
  ])('%s: the warning suggests %s', async (key, meant) => {
    const [warning, ...more] = await warningsOf(configOf([...jobs, `jobs.nightly.${key} = 60s`]))
    expect(more).toEqual([])
    expect(warning).toContain(`'jobs.nightly.${key}' is not a setting that anything reads: did you mean '${meant}'?`)
    expect(warning).toMatch(/\(block 'jobs\.nightly', lease 'report', .*application\.conf:5\)$/)
  })

  it('similar to none: the warning names the options of the provider', async () => {
    const warnings = await warningsOf({ jobs: { nightly: { leaseClass: 'disk', bucket: 'x' } } })
    expect(warnings).toEqual([
      "'jobs.nightly.bucket' is not a setting that anything reads: remove it; the options of this provider are folder " +
        "(block 'jobs.nightly', lease 'report')",
    ])
  })
})

describe('an error of a configuration names the block, the lease, the file and the line', () => {
  it.each([
    ['of the setting in the block', 'heartbeat-timeout = 5 parsecs', 3],
    ['of the setting, by its name in code', 'heartbeat-timeout = 5ms', 3],
    ['of the class', 'lease-class = "./missing.js"', 3],
    ['of the block, if the message names no setting of it', 'strategy = ""', 2],
  ])('%s', async (_, line, number) => {
    const error = await failureOf(configOf(['leasehold.lease.lease-class = disk', 'jobs.nightly {', `  ${line}`, '}']))
    expect(error.message).toMatch(
      new RegExp(`\\(block 'jobs\\.nightly', lease 'report', .*application\\.conf:${number}\\)$`),
    )
  })

  it('of the setting in leasehold.lease, if it comes from there', async () => {
    const error = await failureOf(configOf([...jobs, 'leasehold.lease.max-hold = soon']))
    expect(error.message).toMatch(
      /^max-hold must be .* \(block 'jobs\.nightly', lease 'report', .*application\.conf:5\)$/,
    )
  })
})

describe('a mistyped path or package gets a suggestion', () => {
  it.each([
    ['jobs.nigthly', 'jobs.nightly'],
    ['nightly', 'jobs.nightly'],
    ['jobs.Nightly', 'jobs.nightly'],
  ])('the config path %s: %s', async (path, meant) => {
    const { message } = await failureOf(configOf(jobs), path)
    expect(message).toContain(`has no block '${path}': did you mean '${meant}'?`)
  })

  it.each([
    ['@leasehold/lcoal', '@leasehold/local'],
    ['leasehold/redis', '@leasehold/redis'],
    ['local', '@leasehold/local'],
    ['disc', 'disk'],
  ])('the package %s: %s', async (leaseClass, meant) => {
    const { message } = await failureOf({ jobs: { nightly: { leaseClass } } })
    expect(message).toContain(`is not installed: did you mean '${meant}'?`)
  })

  it('an export, and a file', async (test) => {
    const folder = temporaryFolder(test)
    writeFileSync(join(folder, 'own-lease.mjs'), '')
    const classes = ['@leasehold/core#memoryLaese', join(folder, 'own-laese.mjs')]
    const failures = await Promise.all(classes.map((leaseClass) => failureOf({ jobs: { nightly: { leaseClass } } })))
    expect(failures[0]?.message).toContain("Did you mean '@leasehold/core#memoryLease'?")
    expect(failures[1]?.message).toContain(`Did you mean '${join(folder, 'own-lease.mjs')}'?`)
  })
})
