import { Config, ConfigOptionError, loadConfig, parseHocon } from '@leasehold/config'
import { describe, expect, it } from 'vitest'

describe('an unknown option in code is a ConfigOptionError that suggests the right one', () => {
  it.each([
    ['parseHocon', 'sorce', 'source', (o: object) => parseHocon('', o)],
    ['parseHocon', 'class-path', 'classpath', (o: object) => parseHocon('', o)],
    ['parseHocon', 'readincludes', 'readInclude', (o: object) => parseHocon('', o)],
    ['loadConfig', 'override', 'overrides', (o: object) => loadConfig(o)],
    ['loadConfig', 'ENV', 'env', (o: object) => loadConfig(o)],
    ['Config.from', 'Source', 'source', (o: object) => Config.from({}, o)],
    ['limits', 'maxDept', 'maxDepth', (o: object) => parseHocon('', { limits: o })],
    ['limits', 'max_values', 'maxValues', (o: object) => loadConfig({ limits: o })],
    ['limits', 'maxInclude', 'maxIncludes', (o: object) => Config.from({}, { limits: o })],
  ])('%s: %s, meant is %s', (of, option, meant, use) => {
    const call = (): unknown => use({ [option]: 1 })
    expect(call).toThrow(ConfigOptionError)
    expect(call).toThrow(`${of} has no option '${option}': did you mean '${meant}'?`)
  })

  it('without a similar name: the error lists the options', () => {
    expect(() => Config.from({}, { colour: 'red' } as object)).toThrow(
      "Config.from has no option 'colour': its options are source, limits",
    )
  })

  it('options that are undefined do not count', () => {
    expect(parseHocon('a = 1', { sorce: undefined } as object).getNumber('a')).toBe(1)
  })
})
