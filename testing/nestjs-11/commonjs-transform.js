// #region transform
const { transformSync } = require('esbuild')

module.exports = {
  process: (code) => transformSync(code, { format: 'cjs', target: 'node20', logLevel: 'silent' }),
}
// #endregion transform
