import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { lifeCycleDrawing } from '../docs/life-cycle/drawing.js'
import { lifeCycleFiles } from '../docs/life-cycle/page.js'
import { phaseChanges } from '../docs/life-cycle/walk.js'
import { shown } from '../workspaces.js'

describe('the drawing of the life cycle', () => {
  const changes = phaseChanges()

  it.each(lifeCycleFiles(changes))('is what the transition function does: $path', ({ path, text }) => {
    // Otherwise: npm run docs:update.
    expect(text, shown(path)).toBe(readFileSync(path, 'utf8'))
  })

  it('has an arrow for each change of the phase, and no other arrow', () => {
    const unknown = { from: 'idle', to: 'held', when: ['magic'] } as const
    expect(() => lifeCycleDrawing([...changes, unknown])).toThrow('no arrow from idle to held')
    expect(() => lifeCycleDrawing(changes.slice(1))).toThrow('an arrow that the engine does not take')
  })

  it('knows every reason of a loss', () => {
    const lost = changes.find(({ from, to }) => from === 'held' && to === 'idle')
    // As in the type LeaseLostReason.
    const reasons = ['broken', 'closed', 'deleted', 'expired', 'max-hold', 'parent-lost', 'suspended', 'taken']
    expect(lost?.when).toEqual([...reasons, 'unresponsive'])
  })
})
