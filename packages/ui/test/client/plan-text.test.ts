import { describe, expect, it } from 'vitest'
import { Formats } from '../../client/format/formats.js'
import { planText } from '../../client/recipes/plan-text.js'

describe('planText', () => {
  const formats = new Formats('en-GB')

  it('says periods in units that people use', () => {
    expect(planText('every 600000 ms from 1970-01-01T00:00:00.000Z', formats)).toBe('every 10m')
  })

  it('leaves everything else as it is', () => {
    for (const plan of [
      'cron 0 3 * * * in Europe/Berlin',
      'by another scheduler',
      'every 250 ms from 1970-01-01T00:00:00.000Z',
    ]) {
      expect(planText(plan, formats)).toBe(plan)
    }
  })
})
