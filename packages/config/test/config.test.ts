import { inspect } from 'node:util'
import { Config, ConfigMissingError, ConfigOptionError, ConfigTypeError, parseHocon } from '@leasehold/config'
import { describe, expect, it } from 'vitest'

const config = parseHocon(
  `server {
  host = example.org, port = 8080, "a.b" = quoted, version = 1.10
  on = yes, off = false, ratio = "0.5", none = null
  timeout = 90 seconds, limit = 512K, tags = [a, 2]
  named { "1" = b, "0" = a, x = y }
}`,
  { source: 'app.conf', env: {} },
)

describe('getters', () => {
  it('convert by the rules of HOCON', () => {
    expect(config.getString('server.host')).toBe('example.org')
    expect(config.getString('server.version')).toBe('1.10')
    expect(config.getString('server.off')).toBe('false')
    expect(config.getString('server."a.b"')).toBe('quoted')
    expect(config.getNumber('server.port')).toBe(8080)
    expect(config.getNumber('server.ratio')).toBe(0.5)
    expect(config.getBoolean('server.on')).toBe(true)
    expect(config.getBoolean('server.off')).toBe(false)
    expect(config.getDuration('server.timeout')).toBe(90_000)
    expect(config.getBytes('server.limit')).toBe(524_288)
    expect(config.getList('server.tags')).toEqual(['a', 2])
    expect(config.getList('server.named')).toEqual(['a', 'b'])
    expect(config.getConfig('server').getNumber('port')).toBe(8080)
    expect(config.has('server.host')).toBe(true)
    expect(config.has('server.none')).toBe(false)
    expect(config.has('server.host.x')).toBe(false)
    expect(config.originOf('server.timeout')).toEqual({ source: 'app.conf', line: 4, column: 13 })
    expect(config.originOf('nowhere')).toBeUndefined()
  })

  it.each([
    ['getNumber', 'server.host', `app.conf:2:10: 'server.host' is the string "example.org": expected a number`],
    ['getDuration', 'server.host', 'expected a duration such as 12s or 500 ms'],
    ['getBytes', 'server.on', 'expected a size such as 512K or 10 MB'],
    ['getBoolean', 'server.port', "'server.port' is the number 8080: expected true or false"],
    ['getString', 'server', "'server' is an object: expected a string"],
    ['getList', 'server', 'is an object: expected a list'],
    ['getList', 'server.host', 'expected a list'],
    ['getConfig', 'server.tags', 'is a list: expected an object'],
  ] as const)('%s of %s: the error names the path, the origin and the expected type', (getter, path, message) => {
    if (path === 'server' && getter === 'getList') {
      expect(() => parseHocon('server { a = 1 }', { env: {} }).getList(path)).toThrow(message)
      return
    }
    expect(() => config[getter](path)).toThrow(ConfigTypeError)
    expect(() => config[getter](path)).toThrow(message)
  })

  it('throw different errors for a missing value and for null', () => {
    expect(() => config.getString('server.nowhere')).toThrow(ConfigMissingError)
    expect(() => config.getString('server.nowhere')).toThrow(
      "'server.nowhere' has no value: expected a string in app.conf",
    )
    expect(() => config.getNumber('server.none')).toThrow("'server.none' is null: expected a number")
    expect(() => config.getConfig('server').getConfig('named').getNumber('z')).toThrow("'server.named.z' has no value")
  })

  it('of a number that is too large: return its text, and no number, duration or size', () => {
    const digits = '9'.repeat(400)
    const large = parseHocon(`a = 1e400, b = -1e400, c = ${digits}, d = ${digits} s, e = 1e308 d, f = 1e308Y`, {
      env: {},
    })
    expect(large.toObject()).toEqual({
      a: '1e400',
      b: '-1e400',
      c: digits,
      d: `${digits} s`,
      e: '1e308 d',
      f: '1e308Y',
    })
    for (const path of ['a', 'b', 'c', 'd', 'e', 'f']) {
      for (const getter of ['getNumber', 'getDuration', 'getBytes'] as const)
        expect(() => large[getter](path), `${getter} of ${path}`).toThrow(ConfigTypeError)
    }
    expect(parseHocon('{"a": 1e400}', { env: {}, format: 'json' }).toObject()).toEqual({ a: '1e400' })
  })

  it.each(['', 'a..b', '.a', 'a b=', 7])('reject the path %j', (path) => {
    expect(() => config.getString(path as string)).toThrow(ConfigOptionError)
  })
})

describe('layers', () => {
  it('are merged, and their substitutions are resolved together', () => {
    const above = parseHocon('url = "http://"${host}, list = ${list} [2], a = { x = 1 }', { env: {} })
    const below = parseHocon('host = ${name}.org, list = [1], a = { y = 2 }', { env: {} })
    const both = above.withFallback(below).withFallback({ name: 'example', a: 5 })
    expect(both.toObject()).toEqual({
      name: 'example',
      host: 'example.org',
      url: 'http://example.org',
      list: [1, 2],
      a: { x: 1, y: 2 },
    })
  })

  it('of plain data do not parse keys as paths, and reject values that a configuration cannot hold', () => {
    const plain = Config.from({ 'a.b': 1, c: undefined, d: [null, { e: 'f' }] })
    expect(plain.toObject()).toEqual({ 'a.b': 1, d: [null, { e: 'f' }] })
    expect(() => Config.from({ a: { b: new Map() } })).toThrow('a.b is an object of a class')
    expect(() => Config.from({ a: () => 1 })).toThrow(ConfigOptionError)
    const cyclic: Record<string, unknown> = {}
    cyclic.self = cyclic
    expect(() => Config.from(cyclic)).toThrow('contains itself')
  })
})

describe('environment variables', () => {
  it('make a configuration by themselves', () => {
    const config = Config.fromEnvironment({
      LEASEHOLD_LEASE_MAX__HOLD: '1h',
      CONFIG_FORCE_jobs_nightly_max__hold: '2h',
      OTHER: 'x',
    })
    expect(config.toObject()).toEqual({
      leasehold: { lease: { 'max-hold': '1h' } },
      jobs: { nightly: { 'max-hold': '2h' } },
    })
    expect(config.originOf('leasehold.lease.max-hold')?.source).toBe('environment variable LEASEHOLD_LEASE_MAX__HOLD')
  })
})

describe('secrets', () => {
  const secret = parseHocon(
    `db { password = hunter2, url = "redis://me:hunter2@host/0", connection-string = "AccountKey=hunter2"
      copy = \${db.password}, sentence = "it is "\${db.password}, token { value = hunter2 }, ACCESS_KEY = hunter2
      from-env = \${DB_TOKEN}, all = \${db.token}, user = me
      part = \${db.all.value}, items = \${db.access-key}, joined = \${db.items} [me], access-key = [hunter2] }`,
    { env: { DB_TOKEN: 'hunter2' } },
  )

  it('are returned by getters and toObject', () => {
    expect(secret.getString('db.sentence')).toBe('it is hunter2')
    expect(JSON.stringify(secret.toObject())).toContain('hunter2')
  })

  it('are masked in all text output, and so are values made from them', () => {
    for (const text of [secret.toString(), inspect(secret), JSON.stringify(secret), `${secret.getConfig('db')}`]) {
      expect(text).not.toContain('hunter2')
      expect(text).toContain('***')
      expect(text).toContain('me')
    }
  })

  it.each([
    ['redis:me:hunter2@db', 'redis:***@db'],
    ['redis://me:hunter2@db:6379/0', 'redis://***@db:6379/0'],
    ['redis://me:hunt/er2@db', 'redis://***@db'],
    ['redis://me:hunter@2@db', 'redis://***@db'],
    ['http://a:hunter2@x:1,http://b:hunter2@y:2', 'http://***@x:1,http://***@y:2'],
    ['postgres://db/app?user=me&password=hunter2&x=1', 'postgres://db/app?user=me&password=***&x=1'],
    ['consul://:hunter2@agent', 'consul://***@agent'],
  ])('the login of %s is masked', (url, shown) => {
    expect(Config.from({ url }).toJSON()).toEqual({ url: shown })
  })

  it.each([
    '@leasehold/redis',
    'file:///srv/node_modules/@leasehold/x.mjs',
    './node_modules/@a/b',
    'mail to: me@db',
    'a?b=c',
  ])('%s has no login', (text) => expect(Config.from({ text }).toJSON()).toEqual({ text }))

  it('other values are not masked', () => {
    const shown = Config.from({ text: 'a: Infinity', endless: [Number.POSITIVE_INFINITY], __proto__: null })
    expect(JSON.parse(`${shown}`)).toEqual({ text: 'a: Infinity', endless: [null] })
    expect(JSON.parse(JSON.stringify(shown))).toEqual({ text: 'a: Infinity', endless: [null] })
  })

  it('never appear in errors', () => {
    for (const path of ['db.password', 'db.copy', 'db.sentence', 'db.url', 'db.token.value', 'db.from-env']) {
      expect(() => secret.getNumber(path)).toThrow(ConfigTypeError)
      expect(() => secret.getNumber(path)).not.toThrow('hunter2')
    }
  })
})
