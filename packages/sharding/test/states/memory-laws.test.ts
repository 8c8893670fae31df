import { memoryState } from '../../src/memory-state.js'
import { describeStateLaws } from './describe-state-laws.js'

describeStateLaws({
  name: 'memoryState',
  start: () => {
    const state = memoryState()
    return { open: () => state }
  },
})
