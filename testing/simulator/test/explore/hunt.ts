import { defaultBounds } from '../../src/explore/bounds.js'
import { scheduleOf } from '../../src/explore/schedule.js'
import { search } from '../../src/explore/search.js'
import type { Hunted } from './exploration-mutant.js'

// Refused and failed calls are a part of most states, and nobody reads their stacks.
Error.stackTraceLimit = 0

// Runs in a process of its own, bundled with the bug; prints what the exploration has found.
const [bounds = '{}'] = process.argv.slice(2)
const within = { ...defaultBounds, ...JSON.parse(bounds) }
const result = search(within, { reduces: false })
const { found, states } = result
const hunted: Hunted = { rule: found?.rule, steps: found === undefined ? 0 : scheduleOf(within, result).length, states }
process.stdout.write(JSON.stringify(hunted))
