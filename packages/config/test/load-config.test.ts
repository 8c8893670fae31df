import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ConfigIncludeError, ConfigOptionError, ConfigSyntaxError, loadConfig, parseHocon } from '@leasehold/config'
import { temporaryFolder } from '@leasehold/testing'
import { describe, expect, it } from 'vitest'

function write(folder: string, files: Readonly<Record<string, string>>): string {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  return folder
}

const application = {
  'package.json': '{ "dependencies": { "driver": "1", "@scope/lib": "1" }, "optionalDependencies": { "absent": "1" } }',
  'node_modules/driver/package.json': '{ "dependencies": { "base": "1", "driver": "1" } }',
  'node_modules/driver/reference.conf':
    'driver { ttl = 30s, retries = 3, url = "http://"${driver.host}, host = localhost }\nbase.level = driver',
  'node_modules/driver/node_modules/base/package.json': '{}',
  'node_modules/driver/node_modules/base/reference.conf': 'base { level = base, size = 1K }',
  'node_modules/@scope/lib/package.json': '{}',
  'node_modules/@scope/lib/reference.conf': 'lib.on = yes',
  'node_modules/@scope/lib/shared.conf': 'shared = true',
  'node_modules/stranger/reference.conf': 'stranger = 1',
}

describe('loadConfig', () => {
  it('merges the layers, and resolves their substitutions together', () => {
    const folder = write(temporaryFolder(), {
      ...application,
      'application.conf': 'driver { ttl = 10s, host = example.org, retries = 4 }\ninclude classpath("shared.conf")',
    })
    const overrides = { driver: { retries: 5, port: 1 } }
    const env = {
      LEASEHOLD_LEASE_MAX__HOLD: '1h',
      CONFIG_FORCE_driver_port: '2',
      CONFIG_FORCE_a__b___c: 'x',
      OTHER: 'y',
    }
    const config = loadConfig({ folder, overrides, env })
    expect(config.toObject()).toEqual({
      base: { level: 'driver', size: '1K' },
      driver: { ttl: '10s', retries: 5, url: 'http://example.org', host: 'example.org', port: '2' },
      lib: { on: 'yes' },
      shared: true,
      leasehold: { lease: { 'max-hold': '1h' } },
      'a-b_c': 'x',
    })
    expect(config.originOf('driver.ttl')?.source).toBe(join(folder, 'application.conf'))
    expect(config.originOf('driver.retries')?.source).toBe('overrides')
    expect(() => config.getNumber('a-b_c')).toThrow("environment variable CONFIG_FORCE_a__b___c: 'a-b_c' is the string")
  })

  it('accepts overrides as HOCON with substitutions', () => {
    const folder = write(temporaryFolder(), { ...application, 'application.conf': 'name = app' })
    const config = loadConfig({ folder, overrides: 'title = "the "${name}', env: {} })
    expect(config.getString('title')).toBe('the app')
  })

  it('reads application.properties, .json and .conf; the last one wins', () => {
    const folder = write(temporaryFolder(), {
      'package.json': '{}',
      'application.properties': 'a.b = 1\na = 2\nc = properties\nd = properties',
      'application.json': '{ "c": "json", "d": "json" }',
      'application.conf': 'd = conf',
    })
    expect(loadConfig({ folder, env: {} }).toObject()).toEqual({ a: { b: '1' }, c: 'json', d: 'conf' })
  })

  it('works without a file, but a given file must exist', () => {
    const folder = write(temporaryFolder(), { 'package.json': '{}', 'other.conf': 'a = 1' })
    expect(loadConfig({ folder, env: {} }).toObject()).toEqual({})
    expect(loadConfig({ folder, file: 'other.conf', env: {} }).toObject()).toEqual({ a: 1 })
    expect(loadConfig({ folder, file: 'other', env: {} }).toObject()).toEqual({ a: 1 })
    expect(() => loadConfig({ folder, file: 'absent.conf', env: {} })).toThrow(ConfigOptionError)
  })

  it('a file that cannot be read: the error contains the reason', () => {
    const folder = write(temporaryFolder(), { 'package.json': '{}' })
    symlinkSync('application.conf', join(folder, 'application.conf'))
    expect(() => loadConfig({ folder, env: {} })).toThrow(ConfigOptionError)
    expect(() => loadConfig({ folder, env: {} })).toThrow('cannot be read: ELOOP')
  })

  it('throws at once for a substitution without a value, with file and line', () => {
    const folder = write(temporaryFolder(), { 'package.json': '{}', 'application.conf': '\na = ${nowhere}' })
    expect(() => loadConfig({ folder, env: {} })).toThrow(
      `${join(folder, 'application.conf')}:2:5: \${nowhere} has no value`,
    )
  })
})

describe('includes from files', () => {
  const folder = (files: Readonly<Record<string, string>>) => write(temporaryFolder(), files)
  const read = (root: string, text: string, classpath: readonly string[] = []) =>
    parseHocon(text, { source: join(root, 'root.conf'), env: {}, classpath }).toObject()

  it('are relative to the file, then to the classpath; absolute names, file() and url() are exact', () => {
    const root = folder({
      'sub/one.conf': 'one = 1, include "two"',
      'sub/two.json': '{"two": 2}',
      'two.conf': 'two = no',
    })
    const elsewhere = folder({ 'lib/three.properties': 'three = 3', 'lib/four.conf': 'four = 4' })
    const url = pathToFileURL(join(root, 'sub', 'one.conf')).href
    expect(read(root, 'include "sub/one"')).toEqual({ one: 1, two: 2 })
    expect(read(root, `include "${join(root, 'sub', 'one.conf')}"`)).toEqual({ one: 1, two: 2 })
    expect(read(root, `include file("${join(root, 'sub', 'one')}")`)).toEqual({ one: 1, two: 2 })
    expect(read(root, `include url("${url}")`)).toEqual({ one: 1, two: 2 })
    expect(read(root, `include "${url}"`)).toEqual({ one: 1, two: 2 })
    expect(read(root, 'include "lib/three", include classpath("/lib/four.conf")', [elsewhere])).toEqual({
      three: '3',
      four: 4,
    })
    expect(read(root, 'include "nowhere", a = 1')).toEqual({ a: 1 })
  })

  it('that are required and missing, of another protocol, or invalid JSON: an error with the position', () => {
    const root = folder({ 'bad.json': '{\n"a": 1,\n}', 'bad.conf': 'a = 1\nb = [' })
    expect(() => read(root, '\ninclude required("nowhere")')).toThrow(ConfigIncludeError)
    expect(() => read(root, '\ninclude required("nowhere")')).toThrow(
      `${join(root, 'root.conf')}:2:1: 'nowhere' is required`,
    )
    expect(() => read(root, 'include url("https://example.org/a.conf")')).toThrow('only file: URLs can be included')
    expect(() => read(root, 'include url("no url")')).toThrow(ConfigIncludeError)
    expect(() => read(root, 'include "bad.json"')).toThrow(ConfigSyntaxError)
    expect(() => read(root, 'include "bad.json"')).toThrow(
      `${join(root, 'bad.json')}:3:1: a .json file must contain JSON`,
    )
    expect(() => read(root, 'include "bad.conf"')).toThrow(`${join(root, 'bad.conf')}:2:6`)
  })
})

describe('properties', () => {
  it('are read as in Java: comments, separators, escapes, continued lines', () => {
    const text =
      '# one\n! two\na = 1\nb:2\nc 3\nd\\:e = \\u0041\\t\\\\\nlong = x, \\\n   y\nempty\n=nameless\ndots.. = 4\n'
    expect(parseHocon(text, { format: 'properties' }).toObject()).toEqual({
      '': 'nameless',
      a: '1',
      b: '2',
      c: '3',
      'd:e': 'A\t\\',
      long: 'x, y',
      empty: '',
      dots: { '': { '': '4' } },
    })
    expect(() => parseHocon('a = \\u12', { format: 'properties' })).toThrow('four hexadecimal digits')
  })
})
