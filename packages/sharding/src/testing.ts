export { type StateLaw, stateLaws } from './state/state-laws.js'
