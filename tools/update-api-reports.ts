import { reportApis } from './api-report.js'

process.exitCode = reportApis({ update: true }) ? 0 : 1
