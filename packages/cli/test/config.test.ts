import { describe, expect, it } from 'vitest'
import { configFile } from './support/config-file.js'
import { TestTerminal } from './support/test-terminal.js'

const file = (extra = '') =>
  configFile(`
leasehold.lease {
  lease-class = "@leasehold/redis"
  url = "redis://me:hunter2@db:6379"
  heartbeat-timeout = ""
}
shop.import {
  heartbeat-timeout = 60s
  strategy { renew-at = 0.4 }
  password = swordfish
  ${extra}
}
`)

async function settingsOf(line: string, env = {}) {
  const { code, output, errors } = await new TestTerminal({ env }).run(`config ${line} -o json`)
  expect({ code, errors }).toEqual({ code: 0, errors: '' })
  const { settings } = JSON.parse(output) as { settings: { key: string; value: unknown; origin: string }[] }
  return new Map(settings.map(({ key, value, origin }) => [key, [value, origin]]))
}

describe('leasehold config', () => {
  it('shows each setting of a block and of leasehold.lease, with its file and line', async () => {
    const path = file()
    const settings = await settingsOf(`-c ${path} --path shop.import`)
    expect(settings.get('lease-class')).toEqual(['@leasehold/redis', `${path}:3`])
    expect(settings.get('heartbeat-timeout')).toEqual(['60s', `${path}:8`])
    expect(settings.get('strategy.renew-at')).toEqual([0.4, `${path}:9`])
  })

  it('shows the settings that follow from others as derived', async () => {
    const path = file()
    const settings = await settingsOf(`-c ${path} --path shop.import`)
    expect(settings.get('lease-operation-timeout')).toEqual(['5s', 'derived'])
    expect((await settingsOf(`-c ${path}`)).get('heartbeat-timeout')).toEqual(['120s', 'derived'])
  })

  it('masks secrets, and the credentials of URLs', async () => {
    const { output } = await new TestTerminal().run(`config -c ${file()} --path shop.import`)
    expect(output).toContain('url\tredis://***@db:6379\t')
    expect(output).toContain('password\t***\t')
    expect(output).not.toMatch(/hunter2|swordfish/)
  })

  it('shows the store of --store, of LEASEHOLD_STORE, and the usual one', async () => {
    expect((await settingsOf('--store redis://me:pw@db')).get('url')).toEqual(['redis://***@db', '--store'])
    const env = { LEASEHOLD_STORE: 'redis://db' }
    expect((await settingsOf('', env)).get('url')).toEqual(['redis://db', 'LEASEHOLD_STORE'])
    expect((await settingsOf('--store memory:', env)).get('lease-class')).toEqual([
      '@leasehold/core#memoryLease',
      '--store',
    ])
    expect((await settingsOf('')).get('folder')).toEqual([expect.stringMatching(/leasehold\/leases$/), 'default'])
  })

  it('masks the password of a URL that is not well formed', async () => {
    for (const url of [
      'redis:me:hunter2@db',
      'redis://me:hunt/er2@db',
      'redis://me:hunter@2@db',
      'redis://db?password=hunter2',
    ])
      expect((await new TestTerminal().run(['config', '-s', url])).output, url).not.toMatch(/hunt|er2/)
  })

  it('shows the settings of environment variables, which have more weight than defaults, and less than --store', async () => {
    const env = { LEASEHOLD_LEASE_HEARTBEAT__TIMEOUT: '12s', LEASEHOLD_LEASE_FOLDER: '/var/leases' }
    const settings = await settingsOf('', env)
    expect(settings.get('heartbeat-timeout')).toEqual([
      '12s',
      'environment variable LEASEHOLD_LEASE_HEARTBEAT__TIMEOUT',
    ])
    expect(settings.get('folder')).toEqual(['/var/leases', 'environment variable LEASEHOLD_LEASE_FOLDER'])
    expect((await settingsOf('-s local:/mine', env)).get('folder')).toEqual(['/mine', '--store'])
    expect((await settingsOf('')).get('heartbeat-timeout')).toEqual(['30s', 'default'])
  })

  it('warns of a mistyped environment variable', async () => {
    const env = { LEASEHOLD_LEASE_HEARTBEAT_TIMEOUT: '12s' }
    const { code, errors } = await new TestTerminal({ env }).run('config')
    expect([code, errors]).toEqual([0, expect.stringContaining('LEASEHOLD_LEASE_HEARTBEAT__TIMEOUT')])
  })

  it('warns of a mistyped setting, and suggests a path', async () => {
    const { code, errors } = await new TestTerminal().run(`config -c ${file('max-hodl = 5m')} --path shop.import`)
    expect(code).toBe(0)
    expect(errors).toMatch(/^leasehold: warning: 'shop.import.max-hodl' is not a setting .*did you mean 'max-hold'/)
    const mistyped = await new TestTerminal().run(`config -c ${file()} --path shop.imprt`)
    expect([mistyped.code, mistyped.errors]).toEqual([78, expect.stringContaining("did you mean 'shop.import'?")])
  })

  it('reports settings that contradict each other, and files that are not HOCON', async () => {
    const contradiction = await new TestTerminal().run(
      `config -c ${file('heartbeat-interval = 50s, strategy = interval')} --path shop.import`,
    )
    expect([contradiction.code, contradiction.errors]).toEqual([78, expect.stringContaining('heartbeat')])
    const broken = await new TestTerminal().run(`config -c ${configFile('leasehold { lease = [')}`)
    expect([broken.code, broken.errors]).toEqual([78, expect.stringMatching(/application\.conf/)])
  })
})
