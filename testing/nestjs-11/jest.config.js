// #region jest
// Node before 24.9 cannot load ES modules inside Jest by `require`. Let Jest transform those of Leasehold.
module.exports = {
  transform: { '\\.js$': './commonjs-transform.js' },
  transformIgnorePatterns: ['/node_modules/(?!@leasehold/)'],
}
// #endregion jest
