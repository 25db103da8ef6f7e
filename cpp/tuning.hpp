#pragma once
#include <cstdlib>
#include "elimination.hpp"
namespace dunno {
struct Tuning { int rounds, between, cells; };
inline const Tuning& tuning() {
  static thread_local Tuning t;
  auto get=[](const char* n,int d){const char* s=std::getenv(n); return s?std::atoi(s):d;};
  t={get("T_ROUNDS",1),get("T_BETWEEN",0),get("T_CELLS",16)};
  return t;
}
inline double env(const char* n,double d){const char* s=std::getenv(n); return s?std::atof(s):d;}
#define kRoughTolerance env("T_ROUGH",1e-4)
constexpr double kFineTolerance = 1e-12;
constexpr double kNegligible = 1e-7;
constexpr std::int32_t kExactWidth = 24;
constexpr double kMostStates = 67108864.0;
constexpr EliminationLimits kPlanningLimits{64, 1e300, 1e300};
constexpr std::int32_t kAutoWidth = 18;
#define kAutoWorkPerEdge env("T_WORK",2000)
}
