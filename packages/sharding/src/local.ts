export { type FileStateOptions, fileState } from './state/file-state.js'
